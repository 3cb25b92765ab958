#include <assay/fixtures/file.hpp>

using namespace assay;

int main() {
  const fixtures::NamedTensor query = {"query", spec::contiguous_tensor(spec::DType::bf16, {2, 3})};
  fixtures::Writer writer("cases.h5");
  writer.write({.id = "0123456789ab", .operator_name = "mine", .inputs = {query}});
  writer.close();
  const fixtures::CaseRecord record = fixtures::Reader("cases.h5").read("0123456789ab");
  return fixtures::digest(record.inputs.at(0).tensor) == fixtures::digest(query.tensor) ? 0 : 1;
}
