#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace assay::cli {

/// Prints a table with aligned columns. The first column is left-aligned. Other columns are
/// right-aligned if they contain numbers.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : head_(std::move(head)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  void print(std::ostream& out, const std::string& indent = "") const;

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace assay::cli
