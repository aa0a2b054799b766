/// The version of all that Strata is made of. `scripts/version --check` finds copies that differ.
public enum StrataVersion {
    public static let text = "0.1.0"
}
