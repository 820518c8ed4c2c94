// The grammar of events (declared in event.hpp).
//
//   event   = name [ "(" argument { "," argument } ")" ]
//   number  = decimal [ "/" decimal ]              e.g. 0.01, 1e-5, inf, 256/60000

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "sotto/privacy/event.hpp"
#include "sotto/privacy/event_json.hpp"

namespace sotto {
namespace {

constexpr double kLargestInteger = 1e15;

std::string print(const Event& event) {
  const Event::Node& node = event.node();
  if (const auto* e = std::get_if<GaussianEvent>(&node)) {
    return fmt::format("gaussian({})", e->noise_multiplier);
  }
  if (const auto* e = std::get_if<LaplaceEvent>(&node)) {
    return fmt::format("laplace({})", e->noise_multiplier);
  }
  if (const auto* e = std::get_if<ExponentialEvent>(&node)) {
    return fmt::format("exponential({})", e->epsilon);
  }
  if (const auto* e = std::get_if<SparseVectorEvent>(&node)) {
    return fmt::format("sparse_vector({})", e->epsilon);
  }
  if (std::holds_alternative<NonPrivateEvent>(node)) return "non_private";
  if (const auto* e = std::get_if<PoissonEvent>(&node)) {
    return fmt::format("poisson({}, {})", e->rate, print(*e->inner));
  }
  if (const auto* e = std::get_if<FixedSizeEvent>(&node)) {
    return fmt::format("fixed_size({}, {}, {})", e->batch, e->population, print(*e->inner));
  }
  if (const auto* e = std::get_if<RepeatEvent>(&node)) {
    return fmt::format("repeat({}, {})", e->count, print(*e->inner));
  }
  std::string parts;
  for (const Event& part : std::get<ComposeEvent>(node).parts) {
    if (!parts.empty()) parts += ", ";
    parts += print(part);
  }
  return fmt::format("compose({})", parts);
}

class Parser {
 public:
  Parser(std::string_view text, Relation relation) : text_(text), relation_(relation) {}

  Expected<Event> whole() {
    SOTTO_ASSIGN(Event event, event_at(0));
    if (peek() != '\0') return error("expected the end of the event");
    return event;
  }

 private:
  Expected<Event> event_at(int depth) {
    if (depth > kDeepestEvent) return error(fmt::format("events may nest {} deep", kDeepestEvent));
    peek();
    const std::size_t start = position_;
    while (position_ < text_.size() && (is_lower(text_[position_]) || text_[position_] == '_')) {
      ++position_;
    }
    const std::string_view name = text_.substr(start, position_ - start);
    if (name == "non_private") return Event::non_private(relation_);
    static constexpr std::string_view kNames[] = {"gaussian",
                                                  "laplace",
                                                  "exponential",
                                                  "sparse_vector",
                                                  "poisson",
                                                  "fixed_size",
                                                  "repeat",
                                                  "compose"};
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
      position_ = start;
      return error(
          "expected an event (gaussian, laplace, exponential, sparse_vector, non_private, poisson, "
          "fixed_size, repeat or compose)");
    }
    SOTTO_TRY(expect('('));
    if (name == "compose") return compose(depth);
    if (name == "poisson") {
      SOTTO_ASSIGN(const double rate, number());
      SOTTO_ASSIGN(Event inner, last_event(depth));
      return Event::poisson(rate, std::move(inner));
    }
    if (name == "fixed_size") {
      SOTTO_ASSIGN(const std::int64_t batch, integer());
      SOTTO_TRY(expect(','));
      SOTTO_ASSIGN(const std::int64_t population, integer());
      SOTTO_ASSIGN(Event inner, last_event(depth));
      return Event::fixed_size(batch, population, std::move(inner));
    }
    if (name == "repeat") {
      SOTTO_ASSIGN(const std::int64_t count, integer());
      SOTTO_ASSIGN(Event inner, last_event(depth));
      return Event::repeat(count, std::move(inner));
    }
    SOTTO_ASSIGN(const double parameter, number());
    SOTTO_TRY(expect(')'));
    if (name == "gaussian") return Event::gaussian(parameter, relation_);
    if (name == "laplace") return Event::laplace(parameter, relation_);
    if (name == "exponential") return Event::exponential(parameter, relation_);
    return Event::sparse_vector(parameter, relation_);
  }

  Expected<Event> compose(int depth) {
    std::vector<Event> parts;
    if (peek() != ')') {
      while (true) {
        SOTTO_ASSIGN(Event part, event_at(depth + 1));
        parts.push_back(std::move(part));
        if (peek() != ',') break;
        ++position_;
      }
    }
    SOTTO_TRY(expect(')'));
    return Event::compose(std::move(parts));
  }

  // ", event)" at the end of a combinator.
  Expected<Event> last_event(int depth) {
    SOTTO_TRY(expect(','));
    SOTTO_ASSIGN(Event inner, event_at(depth + 1));
    SOTTO_TRY(expect(')'));
    return inner;
  }

  Expected<double> decimal() {
    peek();
    double value = 0;
    const char* begin = text_.data() + position_;
    const char* end = text_.data() + text_.size();
    const auto [stop, failure] = std::from_chars(begin, end, value);
    if (failure == std::errc::result_out_of_range) {
      return error("this number is too large or too small for a double");
    }
    if (failure != std::errc() || std::isnan(value)) return error("expected a number");
    position_ += static_cast<std::size_t>(stop - begin);
    return value;
  }

  Expected<double> number() {
    SOTTO_ASSIGN(const double numerator, decimal());
    if (peek() != '/') return numerator;
    ++position_;
    SOTTO_ASSIGN(const double denominator, decimal());
    if (!(denominator > 0)) return error("expected a positive number after '/'");
    const double quotient = numerator / denominator;
    // Neither is nothing made of something, nor everything.
    if ((quotient == 0 && numerator != 0) || (std::isinf(quotient) && std::isfinite(numerator)))
      return error("this quotient is too large or too small for a double");
    return quotient;
  }

  Expected<std::int64_t> integer() {
    peek();
    const std::size_t start = position_;
    SOTTO_ASSIGN(const double value, decimal());
    if (value != std::floor(value) || std::abs(value) > kLargestInteger) {
      position_ = start;
      return error("expected a whole number of at most 1e15");
    }
    return static_cast<std::int64_t>(value);
  }

  Expected<void> expect(char wanted) {
    if (peek() != wanted) return error(fmt::format("expected '{}'", wanted));
    ++position_;
    return {};
  }

  // Skips blanks; the next character, or '\0' at the end.
  char peek() {
    while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  tl::unexpected<Error> error(std::string_view what) {
    const std::string found = position_ < text_.size()
                                  ? fmt::format("'{}'", text_.substr(position_, 12))
                                  : std::string("the end");
    return fail(ErrorKind::kUsage,
                fmt::format("the event has a syntax error at position {}: {}, but found {}. An "
                            "example: repeat(1000, poisson(0.01, gaussian(1.1)))",
                            position_ + 1,
                            what,
                            found));
  }

  std::string_view text_;
  Relation relation_;
  std::size_t position_ = 0;
};

}  // namespace

std::string to_string(const Event& event) { return print(event); }

Expected<Event> parse_event(std::string_view text, Relation relation) {
  SOTTO_ASSIGN(Event event, Parser(text, relation).whole());
  SOTTO_TRY(event.check());
  return event;
}

}  // namespace sotto
