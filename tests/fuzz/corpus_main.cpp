#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz.hpp"

namespace {

void give(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// Changes, inserts or removes a few bytes, or replaces some by bytes of another file.
std::string mutated(std::string bytes, const std::string& other, std::mt19937_64& draw) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : draw() % bound; };
  for (auto changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(bytes.size() + 1), size = 1 + below(8),
                      from = below(other.size() + 1);
    switch (below(4)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(draw());
        break;
      case 1:
        bytes.insert(at, size, static_cast<char>(draw()));
        break;
      case 2:
        bytes.erase(at, size);
        break;
      default:
        bytes.insert(at, other.substr(from, 1 + below(64)));
    }
  }
  return bytes;
}

}  // namespace

/// Passes every file of a corpus to the fuzz target, without a fuzzer. If `seconds` is given, it
/// then runs randomly changed files for this time. It writes each changed file to `last` first, so
/// that the file remains if it ends the program.
/// Usage: <program> <folder> [seconds [last]]
int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::vector<std::string> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    give(corpus.back());
  }
  std::printf("%zu files\n", corpus.size());
  if (corpus.empty()) return 1;
  const auto seconds = std::chrono::seconds(argc > 2 ? std::atoi(argv[2]) : 0);
  const auto end = std::chrono::steady_clock::now() + seconds;
  std::mt19937_64 draw(1);
  long mutations = 0;
  for (; std::chrono::steady_clock::now() < end; ++mutations) {
    const std::string bytes =
        mutated(corpus[draw() % corpus.size()], corpus[draw() % corpus.size()], draw);
    if (argc > 3) std::ofstream(argv[3], std::ios::binary) << bytes;
    give(bytes);
  }
  if (mutations > 0) std::printf("%ld mutations\n", mutations);
  return 0;
}
