import StrataCore

/// A live provider of an interface, and a live module that was built with a version of it that the
/// provider doesn't serve.
struct Misfit {
    var interface: String
    var provider: String
    var provided: ContractVersion
    var requirer: String
    var required: ContractVersion

    /// What doesn't fit, as a part of a message.
    var text: String {
        "\(provider) serves version \(provided) of \(interface), and \(requirer) requires \(required)"
    }

    /// The refusal of what would bring the two together.
    var error: BusError {
        BusError(
            .incompatible,
            "\(text): run a \(provider) that serves \(required), or build \(requirer) with \(provided); or say "
                + "contracts: off in the row of one of them")
    }
}
