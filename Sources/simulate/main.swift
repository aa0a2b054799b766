import StrataTesting

SimulationProgram.main()
