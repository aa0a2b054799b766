import StrataContracts

extension Contract.Action {
    /// What the author says of the action, for a client that carries no descriptors: with what it lacks.
    var docWithoutDescriptors: String? {
        guard descriptors != .none else { return doc }
        let failure = descriptors.reply > 0 ? ", so a call whose reply has some fails" : ""
        let lack = "Its descriptors (\(descriptors)) can't be used here\(failure)."
        return [doc, lack].compactMap { $0 }.joined(separator: "\n\n")
    }
}
