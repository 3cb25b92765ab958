#pragma once

#include <concepts>

#include "assay/spec/striding.hpp"
#include "operators/attention/table.hpp"

namespace assay::spec::detail {

inline bool is_strided(const Parameter& parameter) {
  return given(parameter) &&
         (parameter.strides != contiguous_strides(parameter.shape) || parameter.offset != 0);
}

template <class Op>
Requirement<Op> strided_views(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "An input or an output may be a strided view of a tensor, if "
                                      "its storage format is not private.",
                         .sides = {Side::accept},
                         .applies = [](const Call<Op>& c) {
                           bool some = false;
                           visit_fields(c.parameters,
                                        [&]<class Field>(std::string_view, const Field& field) {
                                          if constexpr (std::same_as<Field, Parameter>)
                                            some = some || is_strided(field);
                                        });
                           return some;
                         }});
}

}  // namespace assay::spec::detail
