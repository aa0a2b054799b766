internal import Logging

/// Where the runtime says what nobody is there to be told.
enum ModuleLog {
    static let logger = Logger(label: "strata")
}
