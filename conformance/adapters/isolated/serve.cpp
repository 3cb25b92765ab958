#include "assay/adapters/serve.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>
#include <system_error>
#include <tuple>

#include "assay/spec/not_asked.hpp"
#include "assay/spec/operators.hpp"
#include "assay/spec/takes_formulas.hpp"
#include "isolated/channel.hpp"
#include "isolated/guarded_memory.hpp"
#include "isolated/messages.hpp"
#include "process/containment.hpp"
#include "process/process_state.hpp"

namespace assay::adapters {
namespace {

/// Makes this process the first one that Linux kills when memory runs out.
void prepare_to_crash() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

template <class... Facts>
std::string packed(Answer answer, const Facts&... facts) {
  Packer packer;
  packer.add(answer, facts...);
  return packer.text();
}

/// Calls `contain`, which forks the process in which the kernel runs. If no process can be created,
/// reports this to the judge. Errors: the errors of `contain`.
void contain_or_tell() {
  try {
    contain(lifeline_number);
  } catch (const std::system_error& failure) {
    Channel channel(Descriptor(channel_number), Channel::Files::refused);
    send(channel, packed(Answer::not_asked, failure.what()));
    throw;
  }
}

/// Moves the connection to the judge to a descriptor number that other code is unlikely to use and
/// that child processes do not inherit.
Descriptor own_end() {
  struct stat connection = {}, lifeline = {};
  if (fstat(channel_number, &connection) != 0 || !S_ISSOCK(connection.st_mode) ||
      fstat(lifeline_number, &lifeline) != 0 || !S_ISFIFO(lifeline.st_mode))
    throw std::runtime_error("only the judge starts this command, as its worker");
  contain_or_tell();
  Descriptor end(fcntl(channel_number, F_DUPFD_CLOEXEC, 400));
  if (!end) end = Descriptor(fcntl(channel_number, F_DUPFD_CLOEXEC, channel_number + 1));
  if (!end) throw std::runtime_error("the worker has no descriptor left for its connection");
  close(channel_number);
  return end;
}

/// Calls `act` and returns the answer that it wrote, as bytes; if `act` throws, returns the
/// exception as bytes.
template <class Act>
std::string answer_of(Act&& act) {
  try {
    Packer packer;
    packer.add(Answer::done);
    act(packer);
    return packer.text();
  } catch (const spec::Rejected& answer) {
    return packed(Answer::rejected, answer.status(), answer.what());
  } catch (const spec::ImplementationFault& fault) {
    return packed(Answer::fault, fault.kind(), fault.what());
  } catch (const spec::Unsupported& answer) {
    return packed(Answer::unsupported, answer.what());
  } catch (const spec::NotAsked& shortage) {
    return packed(Answer::not_asked, shortage.what());
  } catch (const std::bad_alloc& failure) {
    return packed(Answer::fault, spec::ImplementationFault::Kind::out_of_memory,
                  std::string("no memory is left: ") + failure.what());
  } catch (const std::exception& failure) {
    return packed(Answer::failed, failure.what());
  } catch (...) {
    return packed(Answer::failed, "an exception that is not a std::exception");
  }
}

/// Returns the answer to a call that changed the state of this process. Such a change is a fault of
/// the kernel, because it would affect later calls. The judge replaces this process.
std::string answer_after_change(const std::string& answer, const std::string& changes) {
  using Kind = spec::ImplementationFault::Kind;
  Unpacker given(answer);
  auto kind = Kind::mode_changed;
  std::string text = "the implementation left " + changes;
  const auto ending = given.take<Answer>();
  if (ending == Answer::not_asked) return answer;
  if (ending == Answer::failed || ending == Answer::fault) {
    kind = ending == Answer::failed ? Kind::crash : given.take<Kind>();
    text = given.take<std::string>() + "; " + text;
  }
  return packed(Answer::spoiled, kind, text);
}

/// Maps the shared tensors of a call into this process. Errors: spec::NotAsked if the process lacks
/// a descriptor or memory for them.
MappedMemory mapped(const Descriptor& file, const std::vector<std::int64_t>& sizes) {
  if (!file) throw spec::NotAsked("the worker has no descriptor left for the tensors");
  try {
    return MappedMemory(file, sizes);
  } catch (const std::system_error& shortage) {
    throw spec::NotAsked(std::string("the worker cannot map the tensors: ") + shortage.what());
  }
}

void add_sizes(const std::vector<Outline>& outlines, std::vector<std::int64_t>& sizes) {
  for (const Outline& outline : outlines)
    if (outline.present) sizes.push_back(outline.bytes);
}

/// Returns tensors with elements in the shared storages. `index`: the number of the first storage.
template <class Tensors>
Tensors tensors_of(const std::vector<Outline>& outlines, MappedMemory& memory, std::size_t index) {
  Tensors tensors{};
  std::size_t member_number = 0;
  visit_fields(tensors, [&](const char*, auto& member) {
    const Outline& outline = outlines.at(member_number++);
    if (!outline.present) return;
    member = spec::Tensor{.dtype = outline.dtype,
                          .shape = outline.shape,
                          .strides = outline.strides,
                          .offset = outline.offset,
                          .bytes = memory.storage(index++)};
  });
  return tensors;
}

/// Returns what happened to a tensor that was at `memory` before the call. If the implementation
/// replaced it with a tensor of the same shape and strides, copies the new elements to `memory`.
Outcome outcome_of(const spec::Tensor* tensor, const Outline& borrowed, spec::Storage memory) {
  if (tensor == nullptr) return Outcome::absent;
  if (outline_of(tensor) != borrowed) return Outcome::replaced;
  if (tensor->bytes.data() != memory.data() && borrowed.bytes > 0) memory.copy_from(tensor->bytes);
  return Outcome::kept;
}

template <class Tensors>
void add_fates(const Tensors& tensors, const std::vector<Outline>& outlines, MappedMemory& memory,
               std::size_t index, Packer& answer) {
  std::size_t member_number = 0;
  visit_fields(tensors, [&](const char*, const auto& member) {
    const Outline& outline = outlines.at(member_number++);
    answer.add(outline.present
                   ? outcome_of(present(member), outline, memory.storage(index++))
                   : (present(member) == nullptr ? Outcome::absent : Outcome::replaced));
  });
}

template <class Op>
class Server {
 public:
  Server(Channel& channel, spec::Implementation<Op>& implementation)
      : channel_(channel), implementation_(implementation), state_(ProcessState::now()) {}

  void answer_all() {
    while (auto message = receive(channel_)) {
      Unpacker request(std::move(message->text));
      const auto kind = request.take<Request>();
      if (kind == Request::goodbye) return;
      send(channel_, answer_to(kind, request, std::move(message->file)));
    }
  }

 private:
  /// An earlier call may change the process state after its answer was sent. The new call did not
  /// cause this change, so it is not started, and the judge repeats it with another worker. A
  /// settle request (wait for late effects) belongs to the earlier call, so its answer reports the
  /// fault of that call.
  std::string answer_to(Request kind, Unpacker& request, Descriptor file) {
    if (const std::string changes = changes_of_state(); !changes.empty() && kind != Request::settle)
      return packed(Answer::not_asked, "an earlier call left " + changes);
    std::string answer = answer_of([&](Packer& packer) { act(kind, request, file, packer); });
    file.close();
    const std::string changes = changes_of_state();
    return changes.empty() ? answer : answer_after_change(answer, changes);
  }
  std::string changes_of_state() const { return difference(state_, ProcessState::now()); }

  void act(Request kind, Unpacker& request, const Descriptor& file, Packer& answer) {
    if (kind == Request::unsupported)
      answer.add(implementation_.unsupported(request.take<spec::Call<Op>>()));
    else if (kind == Request::numerics)
      answer.add(implementation_.numerics(request.take<typename Op::Problem>()));
    else if (kind == Request::check)
      implementation_.check(request.take<spec::Call<Op>>());
    else if (kind == Request::forward)
      forward(request, file, answer);
    else if (kind == Request::settle)
      implementation_.settle();
    else
      run(kind, request, file, answer);
  }

  void run(Request kind, Unpacker& request, const Descriptor& file, Packer& answer) {
    std::optional<spec::Call<Op>> call;
    if (kind == Request::run_call) {
      call = request.take<spec::Call<Op>>();
      const auto formula = request.take<std::string>();
      if (spec::TakesFormulas* const takes = spec::takes_formulas(implementation_))
        takes->set_formula(formula);
      const auto part = request.take<std::string>();
      if (spec::TakesFormulas* const takes = spec::takes_parts(implementation_))
        takes->set_part(part);
    }
    const auto problem = request.take<typename Op::Problem>();
    const auto in = request.take<std::vector<Outline>>();
    const auto out = request.take<std::vector<Outline>>();
    std::vector<std::int64_t> sizes;
    add_sizes(in, sizes);
    const std::size_t first_output = sizes.size();
    add_sizes(out, sizes);
    MappedMemory memory = mapped(file, sizes);
    const auto inputs = tensors_of<typename Op::Inputs>(in, memory, 0);
    auto outputs = tensors_of<typename Op::Outputs>(out, memory, first_output);
    if (call)
      implementation_.run_call(*call, problem, inputs, outputs);
    else
      implementation_.run(problem, inputs, outputs);
    answer.add(implementation_.metrics());
    add_fates(outputs, out, memory, first_output, answer);
  }

  void forward(Unpacker& request, const Descriptor& file, Packer& answer) {
    const auto problem = request.take<typename Op::Problem>();
    const auto in = request.take<std::vector<Outline>>();
    std::vector<std::int64_t> sizes;
    add_sizes(in, sizes);
    MappedMemory memory = mapped(file, sizes);
    auto inputs = tensors_of<typename Op::Inputs>(in, memory, 0);
    implementation_.forward(problem, inputs);
    answer.add(implementation_.metrics());
    add_fates(inputs, in, memory, 0, answer);
  }

  Channel& channel_;
  spec::Implementation<Op>& implementation_;
  ProcessState state_;  ///< before the first call
};

}  // namespace

template <class Op>
void serve(const std::function<std::unique_ptr<spec::Implementation<Op>>()>& make) {
  Channel channel(own_end(), Channel::Files::taken);
  prepare_to_crash();
  std::unique_ptr<spec::Implementation<Op>> implementation;
  const bool greeted =
      send(channel, answer_of([&](Packer& greeting) {
             implementation = make();
             const auto* const takes = spec::takes_formulas(*implementation);
             greeting.add(Greeting{implementation->name(), implementation->checks_arguments(),
                                   implementation->has_forward(), takes != nullptr,
                                   takes != nullptr && takes->has_formula_gradients(),
                                   spec::takes_parts(*implementation) != nullptr});
           }));
  if (greeted && implementation) Server<Op>(channel, *implementation).answer_all();
  if (greeted && !implementation) receive(channel);  // waits for the goodbye of the judge
}

namespace {

/// Instantiates the function template for every operator.
template <class... Ops>
auto serve_of(spec::TypeList<Ops...>) {
  return std::tuple(&serve<Ops>...);
}

}  // namespace

/// This variable forces the compiler to emit the template instantiations into the library.
extern const auto every_serve = serve_of(spec::Operators{});

}  // namespace assay::adapters
