public import Strata

public enum Archive: Interface {
    public static let name = "Archive"
    public static let version: ContractVersion? = "1.0"
    public static let members: [any InterfaceMember.Type] = [
        Append.self,
        Close.self,
        Open.self,
        Swap.self,
    ]

    /// Appends to a file.
    public struct Append: Action {
        public static let name = action("append")
        public typealias Reply = Int
        public static let descriptors = DescriptorCounts(params: 1, reply: 0)
        public var text: String
        public init(text: String) {
            self.text = text
        }
    }

    public struct Close: Action {
        public static let name = action("close")
        public static let descriptors = DescriptorCounts(params: 16, reply: 0)
        public init() {
        }
    }

    public struct Open: Action, RawRepresentable {
        public static let name = action("open")
        public static let descriptors = DescriptorCounts(params: 0, reply: 1)
        public static let errors: KeyValuePairs<String, String> = ["Archive.none": ""]
        public var rawValue: String
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    public struct Swap: Action {
        public static let name = action("swap")
        public typealias Reply = [Descriptor]
        public static let descriptors = DescriptorCounts(params: 2, reply: 2)
        public init() {
        }
    }

    public struct Descriptor: Codable, Sendable {
        public var size: Int
        public init(size: Int) {
            self.size = size
        }
    }
}
