#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sotto/report/chart.hpp"

namespace sotto {

/// How much attention something deserves.
enum class Tone { kPlain, kGood, kWarning, kDanger };

/// A table's cell. A text alone is a plain cell.
struct Cell {
  Cell(std::string words) : text(std::move(words)) {}  // NOLINT: tables are lists of texts
  Cell(const char* words) : text(words) {}             // NOLINT
  Cell(std::string words, Tone how) : text(std::move(words)), tone(how) {}
  Cell(std::string words, Tone how, std::string target)
      : text(std::move(words)), tone(how), link(std::move(target)) {}

  std::string text;
  Tone tone = Tone::kPlain;
  std::string link;  ///< where a click goes: a file beside the page, `#anchor`, or https
};

/// A table's column. A text alone is a column of words.
struct Column {
  Column(std::string words, bool is_number = false)  // NOLINT
      : name(std::move(words)), number(is_number) {}
  Column(const char* words) : name(words) {}  // NOLINT

  std::string name;
  bool number = false;  ///< aligned to the right, with digits of one width
};

using Rows = std::vector<std::vector<Cell>>;

/// A fact in large type: `epsilon`, `0.998`, `of 1 that was granted`.
struct Figure {
  std::string label;
  std::string value;
  std::string note = {};
  Tone tone = Tone::kPlain;
};

/// One self-contained HTML page, made piece by piece from top to bottom.
///
/// It works offline, in light and dark, from 375 px up and printed; it fetches nothing, which its
/// content security policy also forbids. Charts are drawn by Chart.js, which is inlined. Every text
/// is escaped; `words in backticks` are set as code, **words in asterisks** in bold.
class Page {
 public:
  /// `subtitle`: one line below the title, may be empty.
  explicit Page(std::string title, std::string subtitle = "");

  /// Begins a section. Its anchor is the text in lower case with dashes: `#budget-over-time`.
  Page& heading(const std::string& text);
  Page& subheading(const std::string& text);
  Page& paragraph(const std::string& text);
  Page& list(const std::vector<std::string>& items);
  /// A framed message; kDanger can't be missed.
  Page& banner(Tone tone, const std::string& title, const std::string& text);
  Page& figures(const std::vector<Figure>& figures);
  /// Every row has one cell a column. Wide tables scroll inside their frame.
  Page& table(const std::vector<Column>& columns,
              const Rows& rows,
              const std::string& caption = "");
  /// Label and value, one below the other.
  Page& facts(const std::vector<std::pair<std::string, Cell>>& facts);
  /// A chart without any finite point becomes a sentence that says so.
  Page& chart(const Chart& chart);
  /// Preformatted text, for commands and files.
  Page& code(const std::string& text);

  std::string html() const;

 private:
  std::string title_;
  std::string subtitle_;
  std::string body_;
  std::vector<std::string> charts_;                            ///< each as JSON
  std::vector<std::pair<std::string, std::string>> sections_;  ///< anchor and text
};

/// The text with &, <, >, " and ' as HTML entities.
std::string escaped_html(const std::string& text);

}  // namespace sotto
