"""The map of samples: sketched properties, projected to the plane and blended with neighbours.

Each backend that places samples has a module of its name here.
"""
