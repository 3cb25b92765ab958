#include "composed/body.hpp"
#include "composed/fma_body.hpp"
#include "composed/product_body.hpp"
#include "composed/selected_body.hpp"

namespace assay::bench {

void composed_portable(const ComposedHead& head) { composed_body(head); }
void selected_portable(const ComposedSelection& head) { selected_body(head); }
void product_portable(const PlainProduct<double>& product) { product_body(product); }
void product_portable(const PlainProduct<float>& product) { product_body(product); }
double fma_portable(std::int64_t rounds) { return fma_body(rounds); }

}  // namespace assay::bench
