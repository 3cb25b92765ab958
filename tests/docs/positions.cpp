// Checks or redraws the text drawings in docs/positions.md, using the reference's own functions.
// Usage: docs_positions PAGE [--write]
// A drawing is a block of the page. Its first line is "keys: LINE", "distances: LINE", "elements:
// LINE" or "numbers: LINE", where LINE is a replay line of FlashAttentionScoreGrad. The program
// compares the other lines of the block with the reference or, with --write, replaces them.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/reference/mask.hpp"
#include "assay/reference/position_bias.hpp"
#include "assay/reference/score_order.hpp"

namespace assay::tests {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = conformance::Case<Op>;

FlashCase case_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return conformance::parse_case<Op>(words);
}

std::string padded(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// Draws one line per query, for each sequence and each of the first `heads` heads. The line
/// contains the text that `cell` returns for each key.
template <class Cell>
std::string drawing_of(const Op::Problem& p, std::int64_t heads, const Cell& cell) {
  std::ostringstream out;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < heads; ++n) {
      if (p.batch > 1 || heads > 1) out << "sequence " << b;
      if (heads > 1) out << ", head " << n;
      if (p.batch > 1 || heads > 1) out << '\n';
      for (std::int64_t i = 0; i < p.length_q(b); ++i) {
        out << "query " << i << ' ';
        for (std::int64_t j = 0; j < p.length_kv(b); ++j) out << cell(b, n, i, j);
        out << '\n';
      }
    }
  return out.str();
}

/// Draws '#' if the pair is unmasked, '.' if the mask excludes it.
std::string keys_of(const FlashCase& c) {
  const auto tensor = conformance::make_mask(c);
  const reference::Mask mask(c.problem, tensor ? &*tensor : nullptr);
  return drawing_of(c.problem, 1, [&](auto b, auto n, auto i, auto j) {
    return std::string(mask.keeps(b, n, i, j) ? " #" : " .");
  });
}

/// Draws, for each pair of query and key, the distance that the kernel multiplies by the slope of a
/// head.
std::string distances_of(const FlashCase& c) {
  auto slopes = conformance::make_pse(c);
  if (!slopes || c.problem.pse_type != 2)
    throw std::invalid_argument("distances need --pse_type=2 and a --pse_shift of slopes");
  for (const std::int64_t element : spec::viewed_elements(*slopes)) slopes->store(element, 1);
  const reference::PositionBias bias(c.problem, &*slopes);
  return drawing_of(c.problem, 1, [&](auto b, auto n, auto i, auto j) {
    return padded(std::to_string(std::lround(-bias.value(b, n, i, j))), 4);
  });
}

/// Draws, for each unmasked pair of query and key, the row and the column that the reference reads
/// from the bias of 1024 rows.
std::string elements_of(const FlashCase& c) {
  auto pse = conformance::make_pse(c);
  if (!pse || c.problem.pse_shift != spec::PseShape::one_nhs)
    throw std::invalid_argument("elements need --pse_shift=1NHS");
  std::int64_t number = 0;
  for (const std::int64_t element : spec::viewed_elements(*pse))
    pse->store(element, static_cast<double>(number++));
  const reference::PositionBias bias(c.problem, &*pse);
  const std::int64_t columns = pse->shape.back();
  return drawing_of(c.problem, 1, [&](auto b, auto n, auto i, auto j) {
    if (j > i) return padded("-", 8);
    const std::int64_t element = std::llround(bias.value(b, n, i, j));
    return padded(std::to_string(element / columns) + "," + std::to_string(element % columns), 8);
  });
}

/// Draws the index of each score in the drop mask.
std::string numbers_of(const FlashCase& c) {
  const reference::ScoreOrder order(c.problem);
  return drawing_of(c.problem, c.problem.heads_q, [&](auto b, auto n, auto i, auto j) {
    return padded(std::to_string(order(b, n, i, j)), 4);
  });
}

/// The types of drawings and the sparse modes that the page must contain.
struct Seen {
  std::set<std::string> kinds;
  std::set<std::int64_t> modes;
};

/// Returns the redrawn block with the first line `first`. Returns an empty text if the block is not
/// a drawing.
std::string block_of(const std::string& first, Seen& seen) {
  const std::size_t colon = first.find(": ");
  const std::string kind = first.substr(0, colon);
  static const std::map<std::string, std::string (*)(const FlashCase&)> drawings = {
      {"keys", keys_of},
      {"distances", distances_of},
      {"elements", elements_of},
      {"numbers", numbers_of}};
  const auto drawing = drawings.find(kind);
  if (colon == std::string::npos || drawing == drawings.end()) return "";
  const FlashCase c = case_of(first.substr(colon + 2));
  seen.kinds.insert(kind);
  if (kind == "keys") seen.modes.insert(c.problem.sparse_mode);
  return first + '\n' + drawing->second(c);
}

/// Returns `page` with every drawing replaced.
std::string redrawn(const std::string& page, Seen& seen) {
  const std::string fence = "```text\n", end = "```\n";
  std::string result;
  std::size_t at = 0;
  for (std::size_t begin = page.find(fence); begin != std::string::npos;
       begin = page.find(fence, at)) {
    begin += fence.size();
    const std::size_t last = page.find(end, begin);
    if (last == std::string::npos) throw std::invalid_argument("a block has no end");
    const std::string block = page.substr(begin, last - begin);
    const std::string drawn = block_of(block.substr(0, block.find('\n')), seen);
    result += page.substr(at, begin - at) + (drawn.empty() ? block : drawn);
    at = last;
  }
  return result + page.substr(at);
}

/// Prints the first line in which the page differs from the wanted page.
int compare(const std::string& page, const std::string& wanted) {
  std::istringstream found_lines(page), wanted_lines(wanted);
  std::string found, drawn;
  for (int line = 1; std::getline(wanted_lines, drawn); ++line) {
    std::getline(found_lines, found);
    if (found == drawn) continue;
    std::cerr << "line " << line << " is '" << found << "', the reference draws '" << drawn
              << "'\n";
    return 1;
  }
  return 0;
}

int check_or_write(const std::string& path, bool write) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  Seen seen;
  const std::string page = text.str(), wanted = redrawn(page, seen);
  if (seen.kinds.size() != 4 || seen.modes.size() != 9) {
    std::cerr << path << " lacks a drawing: it has " << seen.kinds.size() << " of 4 kinds and "
              << seen.modes.size() << " of 9 sparse modes\n";
    return 1;
  }
  if (write) return std::ofstream(path) << wanted ? 0 : 1;
  return compare(page, wanted);
}

}  // namespace
}  // namespace assay::tests

int main(int argc, char** argv) {
  const bool write = argc == 3 && std::string(argv[2]) == "--write";
  if (argc != 2 && !write) {
    std::cerr << "usage: docs_positions PAGE [--write]\n";
    return 2;
  }
  try {
    return assay::tests::check_or_write(argv[1], write);
  } catch (const std::exception& error) {
    std::cerr << argv[1] << ": " << error.what() << '\n';
    return 1;
  }
}
