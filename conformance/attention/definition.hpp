#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/spec/layout.hpp"
#include "judge/definition.hpp"

namespace assay::conformance {

/// The high-precision definition of an attention operator. One row of queries gives dq and dq_rope;
/// one row of keys gives the other gradients.
class AttentionDefinition : public Definition {
 public:
  DefinedRows row(const std::string& tensor, std::int64_t number) final;
  DefinedRows quick_row(const std::string& tensor, std::int64_t number) final;
  std::int64_t products(const std::string& tensor) const final;

 protected:
  /// The extents of queries and keys, and the number of multiplications for one row of each.
  AttentionDefinition(spec::Extents queries, spec::Extents keys, std::int64_t query_products,
                      std::int64_t key_products);

 private:
  virtual DefinedRows query(const spec::RowPosition& at) = 0;
  virtual DefinedRows key(const spec::RowPosition& at) = 0;
  virtual DefinedRows quick_query(const spec::RowPosition& at) = 0;
  virtual DefinedRows quick_key(const spec::RowPosition& at) = 0;

  spec::Extents queries_, keys_;
  std::int64_t query_products_, key_products_;
};

/// Adds the row, unless the precision is not enough for it.
template <class Real>
void add_row(DefinedRows& rows, const char* tensor, const std::vector<Real>& row) {
  if (std::optional<DefinedRow> defined = defined_row(row))
    rows.emplace_back(tensor, std::move(*defined));
}

}  // namespace assay::conformance
