/// The colour that a module's name has on a terminal, in each command.
public enum ModuleColour {
    private static let codes = ["36", "33", "32", "35", "34", "96", "93", "92", "95", "94"]

    /// What a terminal is told (ECMA-48's SGR). The same name has the same one in each run.
    public static func code(of name: String) -> String {
        let sum = name.utf8.reduce(UInt32(5381)) { $0 &* 33 &+ UInt32($1) }
        return codes[Int(sum % UInt32(codes.count))]
    }
}
