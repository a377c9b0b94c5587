from xpiler.cli import main

main()
