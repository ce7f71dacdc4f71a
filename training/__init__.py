"""How the project's own encoder is made: data, training, measurement and export."""
