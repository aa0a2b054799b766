import StrataLink

LinkDaemon.main()
