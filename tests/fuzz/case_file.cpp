#include <stdexcept>
#include <vector>

#include "assay/fixtures/file.hpp"
#include "cases/case_reading.hpp"
#include "cases/consistency.hpp"
#include "foreign/file_image.hpp"
#include "fuzz.hpp"

/// Treats the fuzzer's bytes as a file of cases. Every case in the file must be read or refused.
/// HDF5 itself crashes on some files, so a separate process reads the file, and the fuzzer reports
/// only faults of our own code.
int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace assay::fixtures;
  const QuietErrors quiet;
  const auto* const first = reinterpret_cast<const std::byte*>(bytes);
  std::vector<std::byte> copy(first, first + size);
  FileImage image(copy);
  try {
    const CaseFile file = case_file(image.open("fuzzed.h5"));
    for (const std::string& id : ids_of(file)) try {
        CaseRecord record = read_head(file, id);
        read_rest(file, record, nullptr);
        require_consistent(record, nullptr, id);
      } catch (const StoreError&) {
      }
  } catch (const StoreError&) {
  }
  return 0;
}
