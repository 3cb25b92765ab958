#include "printing/table.hpp"

#include <algorithm>
#include <string_view>

namespace assay::cli {
namespace {

bool is_number(std::string_view text) {
  return text.empty() || text.find_first_not_of("0123456789+-.einfa%") == std::string_view::npos;
}

}  // namespace

void Table::print(std::ostream& out, const std::string& indent) const {
  std::vector<std::size_t> widths(head_.size());
  std::vector<bool> numeric(head_.size(), true);
  for (std::size_t k = 0; k < head_.size(); ++k) {
    widths[k] = head_[k].size();
    for (const auto& row : rows_) {
      widths[k] = std::max(widths[k], row[k].size());
      numeric[k] = numeric[k] && k > 0 && is_number(row[k]);
    }
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text = indent;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const std::string fill(widths[k] - cells[k].size(), ' ');
      text += numeric[k] ? fill + cells[k] : cells[k] + fill;
      text += "  ";
    }
    text.resize(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  };
  line(head_);
  for (const auto& row : rows_) line(row);
}

}  // namespace assay::cli
