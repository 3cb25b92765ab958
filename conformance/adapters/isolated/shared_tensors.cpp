#include "isolated/shared_tensors.hpp"

#include <cstdint>

namespace assay::adapters {
namespace {

std::vector<std::int64_t> sizes_of(const std::vector<SharedTensor>& tensors) {
  std::vector<std::int64_t> sizes;
  for (const auto& [name, tensor] : tensors)
    sizes.push_back(static_cast<std::int64_t>(tensor->bytes.size()));
  return sizes;
}

}  // namespace

SharedTensors::SharedTensors(KeptFile& kept, std::vector<SharedTensor> tensors)
    : tensors_(std::move(tensors)), memory_(kept, sizes_of(tensors_)) {
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    const spec::Storage& bytes = tensors_[k].tensor->bytes;
    memory_.storage(k, bytes.is_sparse()).copy_from(bytes);
  }
}

std::string SharedTensors::guard_damage() const {
  std::string text;
  for (std::size_t k = 0; k < tensors_.size(); ++k)
    if (const auto damage = memory_.damage(k))
      text += (text.empty() ? "wrote " : "; ") + damage->text(tensors_[k].name);
  return text;
}

std::string SharedTensors::changes(std::size_t count) {
  std::string text;
  for (std::size_t k = 0; k < count; ++k) {
    const spec::Storage& borrowed = tensors_[k].tensor->bytes;
    const spec::Storage now = memory_.storage(k, borrowed.is_sparse());
    if (borrowed == now) continue;
    std::int64_t changed = 0;
    std::size_t first = 0;
    for (const auto& [begin, size] : spec::pieces_of(borrowed, now))
      for (std::size_t e = begin; e < begin + size; ++e)
        if (borrowed[e] != now[e] && changed++ == 0) first = e;
    text += (text.empty() ? "modified the input " : "; the input ") + tensors_[k].name + " in " +
            std::to_string(changed) + (changed == 1 ? " byte" : " bytes") + ", first at byte " +
            std::to_string(first) + " of its storage";
  }
  return text;
}

void SharedTensors::return_to(spec::Tensor& tensor, std::size_t index) {
  tensor.bytes.copy_from(memory_.storage(index, tensor.bytes.is_sparse()));
}

}  // namespace assay::adapters
