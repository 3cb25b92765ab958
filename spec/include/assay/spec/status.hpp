#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// The status codes that phase 1 (the argument check) can return. Source: the vendor's page about
/// return codes of aclnn functions.
enum class Status : std::int32_t {
  success = 0,
  param_nullptr = 161001,
  param_invalid = 161002,
  inner_tiling_error = 561002,
};

template <>
inline constexpr auto spellings_of<Status> = Spellings<Status, 4>{{{
    {Status::success, "ACLNN_SUCCESS"},
    {Status::param_nullptr, "ACLNN_ERR_PARAM_NULLPTR"},
    {Status::param_invalid, "ACLNN_ERR_PARAM_INVALID"},
    {Status::inner_tiling_error, "ACLNN_ERR_INNER_TILING_ERROR"},
}}};

/// An implementation throws this exception to refuse a call. The message names the wrong argument,
/// its value and the limit, and the id of the requirement if it is known.
class Rejected : public std::runtime_error {
 public:
  Rejected(Status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  Status status() const { return status_; }

 private:
  Status status_;
};

}  // namespace assay::spec
