// Judges an output with a pack of test vectors. "judge PACK" lists the cases. "judge PACK ID OUTPUT
// FILE" counts wrong elements; FILE contains the contiguous output as doubles in the byte order of
// this machine.
#include <assay/fixtures/golden.hpp>
#include <assay/fixtures/record.hpp>
#include <fstream>
#include <iostream>

using namespace assay;

static double element(std::ifstream& file, std::int64_t place) {
  double value = 0;
  file.seekg(place * static_cast<std::int64_t>(sizeof value));
  if (!file.read(reinterpret_cast<char*>(&value), sizeof value))
    throw fixtures::StoreError("the output has no element " + std::to_string(place));
  return value;
}

static int judge(const std::string& pack, const std::string& id, const std::string& output,
                 const char* path) {
  std::ifstream file(path, std::ios::binary);
  const auto goldens = fixtures::read_goldens(pack, id);
  const auto found = goldens.find(output);
  if (found == goldens.end()) throw fixtures::StoreError(id + " has no output " + output);
  std::size_t off = 0;
  for (const fixtures::GoldenElement& golden : found->second.elements)
    off += !golden.admits(element(file, golden.place), found->second.dtype);
  std::cout << off << " of " << found->second.elements.size() << " are wrong\n";
  return off != 0;
}

int main(int argc, char** argv) try {
  if (argc == 5) return judge(argv[1], argv[2], argv[3], argv[4]);
  if (argc != 2) throw fixtures::StoreError("usage: judge PACK [ID OUTPUT FILE]");
  for (const std::string& id : fixtures::golden_cases(argv[1])) std::cout << id << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
