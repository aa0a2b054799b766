public import Testing

extension TimeLimitTrait.Duration {
    /// Ends a test that hangs in what has no guard of its own (`TestBus.patience`).
    public static var hang: Self { .minutes(10) }
}
