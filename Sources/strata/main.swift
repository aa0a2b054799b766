RootCommand.runAndExit()
