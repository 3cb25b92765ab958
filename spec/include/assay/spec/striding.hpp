#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// The memory layout (strides and offset) of one tensor of a call. padded: rows are further apart
/// than needed, after an offset. transposed: the first two axes are exchanged in memory. columns:
/// the last two axes are exchanged in memory, so that the elements of a row are not adjacent.
/// mixed: strides and offset differ between the tensors of a call. far: the last element is at
/// least 2^31 elements after the first one.
enum class Striding : std::uint8_t { contiguous, padded, transposed, columns, mixed, far };

template <>
inline constexpr auto spellings_of<Striding> = Spellings<Striding, 6>{{{
    {Striding::contiguous, "contiguous"},
    {Striding::padded, "padded"},
    {Striding::transposed, "transposed"},
    {Striding::columns, "columns"},
    {Striding::mixed, "mixed"},
    {Striding::far, "far"},
}}};

/// With Striding::far, the distance between the first and the last element of a view is at least
/// this number of elements.
inline constexpr std::int64_t far_elements = std::int64_t{1} << 31;

/// Sets the strides and the offset of `parameter` for its shape. `number` is the index of the
/// tensor in the call; for Striding::mixed the strides depend on it.
void apply_striding(Parameter& parameter, Striding striding, std::int64_t number = 0);

/// Returns the size in bytes of the smallest storage that contains the view of a parameter.
std::int64_t storage_bytes(const Parameter& parameter);

/// Returns whether the view uses only a small fraction of the bytes that it spans. If so, its
/// storage is sparse.
bool is_sparse(const Parameter& parameter);

/// The striding of all inputs, or of all outputs, of a call. A single tensor can have a different
/// striding.
class Strides {
 public:
  Strides() = default;
  Strides(Striding all) : all_(all) {}

  /// Sets the striding of one tensor, by its name.
  void set(std::string_view tensor, Striding striding);

  /// Returns the striding of all tensors for which `set` was not called.
  Striding all() const { return all_; }
  /// Returns the tensors for which `set` was called, sorted by name.
  const std::vector<std::pair<std::string, Striding>>& named() const { return named_; }
  Striding of(std::string_view tensor) const;
  /// Returns whether every tensor is contiguous.
  bool is_contiguous() const;

  friend bool operator==(const Strides&, const Strides&) = default;

 private:
  Striding all_ = Striding::contiguous;
  std::vector<std::pair<std::string, Striding>> named_;
};

/// Formats the striding of all tensors (omitted if it is "contiguous"), followed by the exceptions:
/// "padded", "dy:transposed,value:padded", "padded,dy:far".
std::string to_text(const Strides& strides);

}  // namespace assay::spec
