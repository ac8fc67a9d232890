#pragma once
// Graphs and captures of the emulator. A node's work is a function, which a replay calls. Nodes are in the order in
// which they were added, and depend on earlier ones only: so that order respects every dependency.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "runtime/emulator/work_queue.hpp"

namespace kaio::runtime::emulated {

enum class node_kind : std::uint8_t { kernel, copy, fill, host, empty, child };

struct node {
  node_kind kind = node_kind::empty;
  std::function<void()> run;
  std::vector<const node*> after;
  const node* original = nullptr;  // of a clone
};

class graph {
 public:
  node* add(node_kind kind, std::span<void* const> after, std::function<void()> run);
  std::unique_ptr<graph> clone() const;
  // The node that `original` became; null: it is none of the graph that this one was cloned from.
  node* find(const node* original) const;
  const std::vector<std::unique_ptr<node>>& nodes() const noexcept { return nodes_; }
  // Whether `later` comes after `earlier` by dependencies, or is the node itself.
  static bool follows(const node* later, const node* earlier);

 private:
  std::vector<std::unique_ptr<node>> nodes_;
};

class executable {
 public:
  explicit executable(const graph& source);
  void run() const;
  // Takes the work of a graph with the same nodes and dependencies; false: it differs in more.
  bool update(const graph& changed);
  // False: the node is none of the graph that this was made of, or is no kernel.
  bool replace(const node* which, std::function<void()> run);

 private:
  struct step {
    const node* original;
    node_kind kind;
    std::vector<std::size_t> after;
    std::function<void()> run;
  };
  static std::vector<step> steps_of(const graph& source);
  std::vector<step> steps_;
};

struct stream;

struct capture {
  std::unique_ptr<graph> into = std::make_unique<graph>();
  const stream* origin = nullptr;
  std::thread::id thread;
  std::vector<stream*> streams;  // the origin and those that joined
  std::string mistake;           // the first call that was not allowed
};

struct stream {
  std::shared_ptr<capture> captured;  // null: its work runs at once, or after that of the queue
  std::shared_ptr<work_queue> queue = std::make_shared<work_queue>();
  std::vector<void*> last;  // the nodes that the next one of this stream waits for
};

// A record of an event in a stream.
struct mark {
  std::atomic<bool> reached{true};
  std::atomic<std::int64_t> ticks{0};
};

struct event {
  std::shared_ptr<mark> last = std::make_shared<mark>();
  std::weak_ptr<capture> captured;  // recorded in a capture
  std::vector<void*> at;
};

}  // namespace kaio::runtime::emulated
