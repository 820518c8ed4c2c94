#pragma once

// The lines of the neighbour table: method x table x relation x what the differing unit is.

#include <string>
#include <vector>

#include "sotto/optimizer/registry.hpp"
#include "tests/neighbours/tables.hpp"

namespace sotto::testing {

/// A private method with settings that make it short. Every registered one has at least one: a test
/// fails otherwise. Variants are there for what else a method can ask.
struct MethodLine {
  std::string name;  ///< of the line
  std::string method;
  Words arguments;
};
const std::vector<MethodLine>& method_lines();

struct Line {
  const MethodLine* method = nullptr;
  const TableKind* table = nullptr;
  Relation relation = Relation::kZeroOut;
  Unit unit = Unit::kOrdinary;
};
std::string to_string(const Line& line);

/// Why the two can't go together; empty if they can.
std::string impossible(const MethodLine& method, const TableKind& table);

/// Whether the line makes sense.
bool makes_sense(const Line& line);

/// All of them, by method, table and relation, so that lines with the same world A follow each
/// other.
std::vector<Line> all_lines();

/// Lines such that every possible pair of (method, table, relation, unit) occurs in one of them.
std::vector<Line> covering_lines();

/// `sotto train …` for the line's worlds, with checkpoints or without.
Words command(const Line& line, bool checkpoints = true);

/// Runs the lines, which may share worlds A, and tells what differs: one text for each line that
/// fails.
std::vector<std::string> failing(const std::vector<Line>& lines, const RunOptions& options = {});

/// The names of all method lines, and a test of those of `lines` that have this one.
std::vector<std::string> line_names();
void expect_the_same(std::vector<Line> lines, const std::string& name);

}  // namespace sotto::testing
