#include "composed/body.hpp"
#include "composed/selected_body.hpp"

namespace assay::bench {

void composed_portable(const ComposedHead& head) { composed_body(head); }
void selected_portable(const ComposedSelection& head) { selected_body(head); }

}  // namespace assay::bench
