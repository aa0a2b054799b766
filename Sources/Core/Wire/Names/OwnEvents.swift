/// The events that the bus and the launcher emit themselves (the protocol's
/// section 11). Any other name is the app's to choose.
public enum OwnEvents {
    public static let all = [
        "app.memoryPressure", "app.moduleLost", "app.reload", "app.resume", "app.suspend", "app.terminate",
    ]
}
