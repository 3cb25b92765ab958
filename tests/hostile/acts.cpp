#include "acts.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "act_tables.hpp"

namespace assay::hostile {

void hang() {
  while (true) pause();
}

namespace {

void linger() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

/// Recurses until the stack overflows.
int recurse(volatile int* depth) {
  volatile int page[1024];
  page[0] = *depth + 1;
  return page[0] < 1 << 30 ? recurse(&page[0]) + page[0] : 0;
}

template <class Work>
void for_each_socket(Work&& work) {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    struct stat status = {};
    if (fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode)) work(descriptor);
  }
}

void tell(const std::string& bytes) {
  for_each_socket([&](int socket) { (void)!write(socket, bytes.data(), bytes.size()); });
}

/// Sends a message in the format that judge and worker process use: the size, followed by the
/// bytes. The announced size may be wrong.
void tell_message(const std::string& text, std::uint64_t announced) {
  std::string bytes(sizeof announced, '\0');
  std::memcpy(bytes.data(), &announced, sizeof announced);
  tell(bytes + text);
}
void tell_message(const std::string& text) { tell_message(text, text.size()); }

void spread_files() {
  for_each_socket([](int socket) {
    for (int k = 0; k < 100; ++k) {
      char byte = 'x';
      iovec part = {&byte, 1};
      alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
      msghdr message = {};
      message.msg_iov = &part, message.msg_iovlen = 1;
      message.msg_control = control, message.msg_controllen = sizeof control;
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(header), &socket, sizeof socket);
      sendmsg(socket, &message, MSG_NOSIGNAL);
    }
  });
}

void ignore_everything() {
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
}

/// Starts a process in its own session, so that it is not among the descendants of this process.
void leave_a_daemon() {
  const pid_t parent = fork();
  if (parent == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    setsid();
    ignore_everything();
    hang();
  }
  waitpid(parent, nullptr, 0);
}

void crash_in(std::chrono::microseconds time) {
  std::thread([time] {
    std::this_thread::sleep_for(time);
    raise(SIGSEGV);
  }).detach();
}

/// Starts a thread that runs `work` after 5 ms, when the call has already returned to the judge.
template <class Work>
void after_the_call(Work work) {
  std::thread([work] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    work();
  }).detach();
}

/// Sets a timer that outlives the call. It leaves no thread and no child process by which the judge
/// could notice it.
void set_a_timer() {
  itimerval timer = {};
  timer.it_value.tv_sec = 3600;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void* write_later(void*) {
  usleep(300);
  tell("unasked");
  return nullptr;
}

void stream_slowly() {
  tell_message("", 1 << 20);
  while (true) {
    tell("x");
    usleep(1000);
  }
}

Acts deaths() {
  return {
      {"reads address zero", [] { *static_cast<volatile int*>(nullptr) = 1; }},
      {"aborts", [] { std::abort(); }},
      {"executes no instruction", [] { raise(SIGILL); }},
      {"divides by zero", [] { raise(SIGFPE); }},
      {"reads after a file",
       [] {
         const int file = memfd_create("short", 0);
         void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
         *static_cast<volatile char*>(page) = 1;
       }},
      {"recurses without end",
       [] {
         volatile int depth = 0;
         recurse(&depth);
       }},
      {"terminates", [] { std::terminate(); }},
      {"kills itself", [] { raise(SIGKILL); }},
      {"kills its group", [] { kill(0, SIGKILL); }},
      {"asks itself to end", [] { raise(SIGTERM); }},
      {"breaks a pipe",
       [] {
         signal(SIGPIPE, SIG_DFL);
         raise(SIGPIPE);
       }},
      {"sets a timer", [] { raise(SIGALRM); }},
      {"exits with 0", [] { std::exit(0); }},
      {"exits with 3", [] { std::exit(3); }},
      {"exits at once with 0", [] { _exit(0); }},
      {"exits quickly with 0", [] { std::quick_exit(0); }},
      {"ends its thread", [] { pthread_exit(nullptr); }},
      {"ends its only thread by a call", [] { syscall(SYS_exit, 0); }},
      {"throws", [] { throw std::domain_error("not my day"); }},
      {"throws a number", [] { throw 3; }},
      {"throws from a destructor",
       [] {
         struct Bad {
           ~Bad() noexcept(false) { throw 1; }  // NOLINT(bugprone-exception-escape)
         };
         const Bad bad;
         throw 2;
       }},
      {"is /bin/true", [] { execl("/bin/true", "true", nullptr); }},
      {"is a program that stays", [] { execl("/bin/sleep", "sleep", "100", nullptr); }},
      {"ignores its crash",
       [] {
         ignore_everything();
         *static_cast<volatile int*>(nullptr) = 1;
       }},
      {"crashes while a child holds its connection",
       [] {
         in_a_child(hang);
         raise(SIGSEGV);
       }},
      {"ends while a child holds its connection",
       [] {
         in_a_child(hang);
         _exit(0);
       }},
      {"crashes among fifty children",
       [] {
         for (int k = 0; k < 50; ++k) in_a_child(hang);
         raise(SIGSEGV);
       }},
      {"crashes after its call", [] { crash_in(std::chrono::microseconds(300)); }},
      {"crashes when its call ends",
       [] {
         crash_in(std::chrono::microseconds(0));
         linger();
       }},
      {"frees twice",
       [] {
         void* volatile block = std::malloc(100);
         std::free(block);
         std::free(block);
       }},
  };
}

Acts hangs() {
  return {
      {"hangs", hang},
      {"spins",
       [] {
         while (getpid() > 0) {
         }
       }},
      {"hangs and ignores signals",
       [] {
         ignore_everything();
         hang();
       }},
      {"hangs while it exits",
       [] {
         std::atexit([] { hang(); });
         std::exit(0);
       }},
      {"stops itself", [] { raise(SIGSTOP); }},
      {"ends its first thread and stays",
       [] {
         std::thread(hang).detach();
         syscall(SYS_exit, 0);
       }},
      {"prints without end",
       [] {
         const std::vector<char> page(1 << 16, 'a');
         while (write(STDERR_FILENO, page.data(), page.size()) >= 0) {
         }
       }},
      {"waits for itself",
       [] {
         pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
         pthread_mutex_lock(&mutex);
         pthread_mutex_lock(&mutex);
       }},
  };
}

Acts connections() {
  return {
      {"closes every descriptor", [] { close_range(3, ~0u, 0); }},
      {"closes every descriptor and hangs",
       [] {
         close_range(3, ~0u, 0);
         hang();
       }},
      {"replaces every descriptor",
       [] {
         const int null = open("/dev/null", O_RDWR);
         for (int descriptor = 0; descriptor < 1024; ++descriptor)
           if (descriptor != null) dup2(null, descriptor);
       }},
      {"shuts its connection down",
       [] {
         for_each_socket([](int socket) { shutdown(socket, SHUT_RDWR); });
         hang();
       }},
      {"writes letters into its connection", [] { tell(std::string(64, '\x7f')); }},
      {"writes a part of a message and hangs",
       [] {
         tell("abcd");
         hang();
       }},
      {"announces a message and hangs",
       [] {
         tell_message("", 10 << 20);
         hang();
       }},
      {"announces an endless message", [] { tell_message("", std::uint64_t{1} << 62); }},
      {"announces a message that hardly comes", stream_slowly},
      {"answers nothing", [] { tell_message(""); }},
      {"answers a choice that is none", [] { tell_message("\x07"); }},
      {"answers a list without end",
       [] { tell_message(std::string(1, '\0') + std::string(8, '\x7f')); }},
      {"answers a text without end",
       [] { tell_message(std::string(1, '\x04') + std::string(8, '\x7f')); }},
      {"answers too much", [] { tell_message(std::string(1 + 8, '\0') + std::string(100, '\0')); }},
      {"spreads descriptors", spread_files},
      {"writes after its call",
       [] {
         pthread_t thread;
         pthread_create(&thread, nullptr, write_later, nullptr);
         pthread_detach(thread);
       }},
  };
}

Acts afterthoughts() {
  return {
      {"crashes in a while", [] { after_the_call([] { raise(SIGSEGV); }); }},
      {"exits in a while", [] { after_the_call([] { _exit(3); }); }},
      {"writes in a while", [] { after_the_call([] { tell("unasked"); }); }},
      {"closes every descriptor in a while",
       [] { after_the_call([] { close_range(3, ~0u, 0); }); }},
      {"shuts its connection down in a while",
       [] {
         after_the_call([] { for_each_socket([](int socket) { shutdown(socket, SHUT_RDWR); }); });
       }},
      {"has a child write in a while",
       [] {
         in_a_child([] {
           usleep(5000);
           tell("unasked");
         });
       }},
      {"is alarmed in a while", set_a_timer},
  };
}

void lower(decltype(RLIMIT_AS) resource, rlim_t most) {
  const rlimit limit = {most, most};
  setrlimit(resource, &limit);
}

/// Actions that change a setting of the process, so that later calls in the same process are
/// affected.
Acts legacies() {
  return {
      {"lowers its descriptors", [] { lower(RLIMIT_NOFILE, 5); }},
      {"lowers its address space", [] { lower(RLIMIT_AS, 1 << 20); }},
      {"lowers its descriptors much later",
       [] {
         std::thread([] {
           linger();
           lower(RLIMIT_NOFILE, 3);
         }).detach();
       }},
      {"sets its umask", [] { umask(0777); }},
      {"leaks descriptors",
       [] {
         for (int k = 0; k < 300; ++k) (void)!dup(STDERR_FILENO);
       }},
      {"keeps some descriptors",
       [] {
         for (int k = 0; k < 20; ++k) (void)!dup(STDERR_FILENO);
       }},
      {"sets a locale", [] { std::setlocale(LC_ALL, "C.UTF-8"); }},
      {"leaves a timer",
       [] {
         timer_t timer{};
         timer_create(CLOCK_MONOTONIC, nullptr, &timer);
       }},
      {"blocks a signal",
       [] {
         sigset_t one;
         sigemptyset(&one);
         sigaddset(&one, SIGUSR1);
         pthread_sigmask(SIG_BLOCK, &one, nullptr);
       }},
      {"changes its environment", [] { setenv("HOSTILE", "no more", 1); }},
      {"adds to its environment", [] { setenv("HOSTILE_TOO", "1", 1); }},
      {"leaks descriptors and throws",
       [] {
         for (int k = 0; k < 300; ++k) (void)!dup(STDERR_FILENO);
         throw std::domain_error("not my day");
       }},
  };
}

Acts litter() {
  return {
      {"leaves a child", [] { in_a_child(hang); }},
      {"leaves a daemon", leave_a_daemon},
      {"leaves a daemon and hangs",
       [] {
         leave_a_daemon();
         hang();
       }},
      {"leaves a daemon and crashes",
       [] {
         leave_a_daemon();
         raise(SIGSEGV);
       }},
      {"leaves a thread", [] { std::thread(hang).detach(); }},
      {"leaves shared memory by name",
       [] { close(shm_open("/hostile-left", O_CREAT | O_RDWR, 0600)); }},
      {"leaves System V memory",
       [] { [[maybe_unused]] const int id = shmget(0x4153, 4096, IPC_CREAT | 0600); }},
      {"leaves temporary files",
       [] {
         const auto folder = std::filesystem::temp_directory_path() / "hostile-folder";
         std::filesystem::create_directories(folder / "deep");
         std::ofstream(folder / "deep" / "file") << "litter";
       }},
      {"moves elsewhere", [] { (void)!chdir("/"); }},
      {"lets nobody write files",
       [] {
         const rlimit none = {0, 0};
         setrlimit(RLIMIT_FSIZE, &none);
         umask(0777);
       }},
      {"kills its parent",
       [] {
         kill(getppid(), SIGKILL);
         linger();  // the death of the parent ends this process, but not at once
       }},
      {"stops its parent", [] { kill(getppid(), SIGSTOP); }},
      {"empties its environment", [] { clearenv(); }},
      {"makes holes in the tensors",
       [] {
         for (int descriptor = 3; descriptor < 1024; ++descriptor)
           fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1 << 20);
       }},
      {"cuts the tensors",
       [] {
         for (int descriptor = 3; descriptor < 1024; ++descriptor)
           if (ftruncate(descriptor, 0) == 0) std::fputs("cut\n", stderr);
       }},
  };
}

}  // namespace

std::string manner() {
  const char* const text = std::getenv("HOSTILE");
  return text == nullptr ? "" : text;
}

bool act(const std::string& manner) {
  for (const Acts& acts : {deaths(), hangs(), connections(), afterthoughts(), thefts(), legacies(),
                           litter(), arithmetics()}) {
    const auto found = acts.find(manner);
    if (found == acts.end()) continue;
    found->second();
    return true;
  }
  return false;
}

}  // namespace assay::hostile
