#include <stdexcept>
#include <vector>

#include "assay/fixtures/file.hpp"
#include "cases/case_reading.hpp"
#include "cases/consistency.hpp"
#include "foreign/file_image.hpp"
#include "fuzz.hpp"

/// Every case of a file of these bytes is read or refused. HDF5 itself crashes on some: this is the
/// code for which a judge has a process of its own, so that only what is ours counts as found.
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
