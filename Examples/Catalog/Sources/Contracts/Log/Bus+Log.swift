public import Strata

extension Bus {
    /// Reports a line to Log, and doesn't wait for it: whoever logs has something
    /// else to do. Where Log isn't there the line goes to this module's output.
    public func log(_ text: String) { send(LogLine(text), text) }

    /// Reports a warning in the same way.
    public func warn(_ text: String) { send(LogWarning(text), text) }

    private func send(_ line: some Report, _ text: String) {
        do {
            try background("a line for Log") {
                do {
                    try await self.report(line, to: Log.name)
                } catch {
                    print("\(text) (not logged: \(error))")
                }
            }
        } catch {
            print("\(text) (not logged: \(error))")
        }
    }
}
