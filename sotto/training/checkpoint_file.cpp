#include "sotto/training/checkpoint_file.hpp"

#include <fmt/format.h>

#include "sotto/core/file.hpp"

namespace sotto {

bool CheckpointFile::is_ours(const FileIdentity& found) const {
  return (ours_ && ours_->same_file(found)) || (tried_ && tried_->same_file(found));
}

Expected<Checkpoint> CheckpointFile::read() {
  // Before it is read: what somebody puts there in between is not ours.
  SOTTO_ASSIGN(ours_, identity_at(path_));
  return read_checkpoint(path_);
}

Expected<void> CheckpointFile::write(const Checkpoint& checkpoint) {
  SOTTO_ASSIGN(const auto found, identity_at(path_));
  if (found && !is_ours(*found))
    return fail(ErrorKind::kIo,
                fmt::format("the state was not written to {}: the file there is another run's. "
                            "Give every run a ‘checkpoint’ of its own.",
                            path_));
  SOTTO_ASSIGN(AtomicFile file, AtomicFile::create(path_, FileAccess::kOwner));
  SOTTO_TRY(file.write(to_bytes(checkpoint)));
  SOTTO_ASSIGN(tried_, identity_of(file.descriptor(), path_));
  SOTTO_TRY(file.commit());
  ours_ = tried_;
  return {};
}

Expected<void> CheckpointFile::remove() const {
  if (path_.empty()) return {};
  SOTTO_ASSIGN(const auto found, identity_at(path_));
  if (!found || !is_ours(*found)) return {};
  return remove_file(path_);
}

}  // namespace sotto
