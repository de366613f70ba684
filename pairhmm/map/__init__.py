"""Relations and maps of samples: `map relate` from genotypes, `map draw` from sketched properties."""
