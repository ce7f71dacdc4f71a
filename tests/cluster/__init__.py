"""Does everything hold on a real cluster of three nodes? Started here, on loopback, and stopped."""
