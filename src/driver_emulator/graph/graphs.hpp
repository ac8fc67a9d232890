#pragma once
// Graphs: nodes, each with its work and its dependencies. An executable graph has the nodes in one order that
// respects every dependency. Source: CUDA driver API, "Graph Management".

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

std::shared_ptr<graph> find_graph(CUgraph handle);
std::shared_ptr<graph_node> find_node(CUgraphNode handle);
std::shared_ptr<graph> graph_of(const graph_node& n);

std::shared_ptr<graph> make_graph();
// Takes the graph and its nodes out of the tables, and releases what it keeps.
void destroy_graph(const std::shared_ptr<graph>& g);

// Adds a node. The nodes that it comes after must be of the same graph. Throws failure.
CUgraphNode add_node(graph& g, CUgraphNodeType type, work what, const CUgraphNode* after, std::size_t count);

// Copies a graph; the copied nodes remember their originals.
std::shared_ptr<graph> clone_graph(const graph& g, bool as_child);

// Returns the nodes in an order in which each comes after its dependencies. Throws failure: a cycle.
std::vector<std::shared_ptr<graph_node>> in_order(const graph& g);

// Returns the work of a node when its graph runs; a child graph becomes its steps.
work executable_work(const graph_node& n);
std::vector<executable_node> executable_nodes(const graph& g);

// Memory that a node of a graph allocates. It lives as long as a graph that has the node.
allocate_work make_allocation(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters);

// Edges, in the order of the nodes that they lead to.
std::vector<std::pair<CUgraphNode, CUgraphNode>> edges_of(const graph& g);

// Releases references to a program's object; releasing the last one destroys it.
void release_user_object(CUuserObject handle, std::uint64_t count);

}  // namespace kaio::driver_emulator
