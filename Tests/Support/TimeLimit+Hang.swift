public import Testing

extension TimeLimitTrait.Duration {
    /// A limit for tests that may hang outside the guard of `TestBus.patience`.
    public static var hang: Self { .minutes(10) }
}
