/// A value that most of its owners never set: it takes a word until then, and memory of its own
/// afterwards.
///
/// Copies share that memory until one of them changes. A copy of an unset value is free.
@propertyWrapper
@frozen
public struct Seldom<Value: Emptiable> {
    @usableFromInline
    final class Box {
        @usableFromInline var value: Value

        @usableFromInline init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box?

    /// Creates an unset value, which reads as `Value()`.
    @inlinable
    public init() {}

    @inlinable
    public var wrappedValue: Value {
        _read {
            if let box { yield box.value } else { yield Value() }
        }
        _modify {
            if box == nil {
                box = Box(Value())
            } else if !isKnownUniquelyReferenced(&box) {
                box = Box(wrappedValue)
            }
            yield &box!.value
        }
    }

    /// The value; nil if it was never set.
    @inlinable
    public var projectedValue: Value? { box?.value }
}

/// Unchecked because the memory that copies share doesn't change while they do.
extension Seldom: @unchecked Sendable where Value: Sendable {}

extension Optional: Emptiable {
    @inlinable
    public init() { self = nil }
}

/// A value that can be empty.
public protocol Emptiable {
    /// Creates the empty value.
    init()
}
