/// Which modules stand in one row. A level is a row, or several where it has many
/// modules.
enum LevelRows {
    /// So many modules at most stand in a row.
    static let widest = 7

    struct Row: Equatable {
        var rank: Int
        var modules: [Int]
    }

    /// Each level has at least one row, even where it has no modules.
    static func of(_ graph: AppGraph) -> [Row] {
        var pull = Array(repeating: 0, count: graph.modules.count)
        for edge in graph.edges {
            let (from, to) = (graph.modules[edge.from].rank, graph.modules[edge.to].rank)
            // Towards which side its lines go.
            pull[edge.from] += (to - from).signum()
            pull[edge.to] += (from - to).signum()
        }
        return graph.levels.indices.flatMap { rank -> [Row] in
            let members = graph.modules.indices.filter { graph.modules[$0].rank == rank }
            guard members.count > widest else { return [Row(rank: rank, modules: members)] }
            let sorted = members.sorted { (pull[$0], $0) < (pull[$1], $1) }
            let count = (members.count + widest - 1) / widest
            return (0..<count).map { row in
                let range = row * sorted.count / count..<(row + 1) * sorted.count / count
                return Row(rank: rank, modules: Array(sorted[range]))
            }
        }
    }
}
