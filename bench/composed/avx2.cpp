#include "composed/body.hpp"
#include "composed/fma_body.hpp"
#include "composed/product_body.hpp"
#include "composed/selected_body.hpp"

namespace assay::bench {

void composed_avx2(const ComposedHead& head) { composed_body(head); }
void selected_avx2(const ComposedSelection& head) { selected_body(head); }
void product_avx2(const PlainProduct<double>& product) { product_body(product); }
void product_avx2(const PlainProduct<float>& product) { product_body(product); }
double fma_avx2(std::int64_t rounds) { return fma_body(rounds); }

}  // namespace assay::bench
