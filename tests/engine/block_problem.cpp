#include "block_problem.hpp"

#include <algorithm>
#include <memory>

#include "formulas/attention_head.hpp"

namespace assay::engine::attention {
namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// Receives the sum of every element, and stores finish(sum, element).
template <class T, class Finish>
class Kept : public Sink {
 public:
  Kept(const Head& h, const Finish& finish) : finish_(finish) {
    all_.dq.resize(at(h.queries * h.dim));
    all_.dk.resize(at(h.keys * h.dim));
    all_.dv.resize(at(h.keys * h.dim_v));
  }
  std::unique_ptr<RowSink> open(std::size_t sum, Range) override {
    return std::make_unique<Rows>(*this, sum, sum == 0 ? all_.dq : sum == 1 ? all_.dk : all_.dv);
  }
  const Gradients<T>& all() const { return all_; }

 private:
  class Rows : public RowSink {
   public:
    Rows(const Kept& of, std::size_t sum, std::vector<T>& to) : of_(of), sum_(sum), to_(to) {}
    void take(std::int64_t row, const ElementRow& elements, const RowSums&) override {
      for (std::size_t d = 0; d < elements.size(); ++d)
        to_[at(row) * elements.size() + d] = of_.finish_(sum_, to_.size(), elements[d]);
    }

   private:
    const Kept& of_;
    std::size_t sum_;
    std::vector<T>& to_;
  };

  const Finish& finish_;
  Gradients<T> all_;
};

template <class T, class Streams, class Finish>
Gradients<T> sweep_blocks(const Head& head, const IndexSet& pairs, const BlockShape& shape,
                          const Finish& finish) {
  const HeadFormula formula(head);
  Kept<T, Finish> kept(head, finish);
  BlockSweep<Streams, HeadFormula>(formula, pairs, shape, kept).run();
  return kept.all();
}

}  // namespace

Range PairsOfHead::reach(std::int64_t row) const {
  Range reach;
  for (std::int64_t j = 0; j < head_.keys; ++j) {
    if (head_.times[at(row * head_.keys + j)] == 0) continue;
    if (reach.last == 0) reach.first = j;
    reach.last = j + 1;
  }
  return reach;
}

void PairsOfHead::counts(std::int64_t row, std::int64_t first, std::span<double> times) const {
  std::copy_n(head_.times.begin() + row * head_.keys + first, times.size(), times.begin());
}

Gradients<Bound> block_bounds(const Head& head, const IndexSet& pairs, const Output& output,
                              const BlockShape& shape) {
  const auto finish = [&](std::size_t sum, std::size_t elements, const Element& element) {
    return written(element, output, sum < 2 ? head.call.scale : 1, elements);
  };
  return sweep_blocks<Bound, ToleranceStreams<symbols>>(head, pairs, shape, finish);
}

Gradients<Enclosure<double>> block_enclosures(const Head& head, const IndexSet& pairs,
                                              const BlockShape& shape) {
  const auto finish = [&](std::size_t sum, std::size_t, const Element& element) {
    return enclosed(element, sum < 2 ? head.call.scale : 1);
  };
  return sweep_blocks<Enclosure<double>, EnclosureStreams<symbols>>(head, pairs, shape, finish);
}

std::vector<std::size_t> order_of_blocks(const Head& head, const IndexSet& pairs,
                                         const BlockShape& shape) {
  class Order : public Sink {
   public:
    std::unique_ptr<RowSink> open(std::size_t sum, Range) override {
      opened.push_back(sum);
      return std::make_unique<Nothing>();
    }
    std::vector<std::size_t> opened;

   private:
    class Nothing : public RowSink {
      void take(std::int64_t, const ElementRow&, const RowSums&) override {}
    };
  };
  const HeadFormula formula(head);
  Order order;
  BlockSweep<EnclosureStreams<symbols>, HeadFormula>(formula, pairs, shape, order).run();
  return order.opened;
}

}  // namespace assay::engine::attention
