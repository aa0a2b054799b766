internal import Glibc
internal import Launch

/// The app that the broker serves in all measurements: modules are guests of the
/// last level, but for the sender of broadcasts.
enum BrokerTable {
    /// The table as JSON, with so many further rows, each with an interface, a URL
    /// and an observation of its own that nobody asks for.
    /// - Parameters:
    ///   - guests: how many modules without a row there may be.
    ///   - assembly: how long a frame may take to come, in milliseconds.
    static func json(crowd: Int = 0, guests: Int = 4_000, assembly: Int = 60_000) -> String {
        var rows = [#"{"name":"Sender","rank":0,"start":"manual"}"#]
        for index in 0..<crowd {
            rows.append(
                #"{"name":"Row\#(index)","rank":1,"start":"manual","provides":["RowInterface\#(index)"],"#
                    + #""urls":[{"host":"row\#(index).example","path":"/show/:id","to":"RowInterface\#(index)/show"}],"#
                    + #""observes":[{"name":"row.\#(index)","keep":"all"}]}"#)
        }
        return
            #"{"app":"bench","schemes":["bench"],"assembly":\#(assembly),"guests":{"rank":2,"most":\#(guests)},"#
            + #""modules":[\#(rows.joined(separator: ","))]}"#
    }

    /// A descriptor of a file without a name that holds the table.
    static func descriptor(crowd: Int = 0) throws -> Int32 { try descriptor(of: json(crowd: crowd)) }

    static func descriptor(of table: String) throws -> Int32 {
        let bytes = Array(table.utf8)
        let descriptor = launch_memory_file(bytes, bytes.count)
        guard descriptor >= 0 else { throw Failure("there is no memory for the broker's table: errno \(-descriptor)") }
        return descriptor
    }
}
