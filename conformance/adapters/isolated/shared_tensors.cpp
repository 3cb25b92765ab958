#include "isolated/shared_tensors.hpp"

#include <algorithm>
#include <cstring>

namespace assay::adapters {
namespace {

std::vector<std::int64_t> sizes_of(const std::vector<SharedTensor>& tensors) {
  std::vector<std::int64_t> sizes;
  for (const auto& [name, tensor] : tensors)
    sizes.push_back(static_cast<std::int64_t>(tensor->bytes.size()));
  return sizes;
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t size) {
  if (size > 0) std::memcpy(to, from, size);
}

}  // namespace

SharedTensors::SharedTensors(KeptFile& kept, std::vector<SharedTensor> tensors)
    : tensors_(std::move(tensors)), memory_(kept, sizes_of(tensors_)) {
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    const spec::Storage& bytes = tensors_[k].tensor->bytes;
    copy_bytes(memory_.storage(k).data(), bytes.data(), bytes.size());
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
    const spec::Storage& lent = tensors_[k].tensor->bytes;
    const auto now = memory_.storage(k);
    if (lent.empty() || std::memcmp(lent.data(), now.data(), lent.size()) == 0) continue;
    const std::byte* const first = std::mismatch(lent.begin(), lent.end(), now.begin()).first;
    std::int64_t changed = 0;
    for (std::size_t e = 0; e < lent.size(); ++e) changed += lent[e] != now[e] ? 1 : 0;
    text += (text.empty() ? "modified the input " : "; the input ") + tensors_[k].name + " in " +
            std::to_string(changed) + (changed == 1 ? " byte" : " bytes") + ", first at byte " +
            std::to_string(first - lent.begin()) + " of its storage";
  }
  return text;
}

void SharedTensors::return_to(spec::Tensor& tensor, std::size_t index) {
  const auto bytes = memory_.storage(index);
  copy_bytes(tensor.bytes.data(), bytes.data(), bytes.size());
}

}  // namespace assay::adapters
