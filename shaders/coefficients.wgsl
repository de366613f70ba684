// The coefficients of a lane's rows, which `load_lane` staged, into registers.
//#for k K
let from_deletion$k = emissions[lane][$k.quad].$k.axis;
let from_insertion$k = emissions[W + lane][$k.quad].$k.axis;
let extend_insertion$k = emissions[2u * W + lane][$k.quad].$k.axis;
//#if VARYING
let extend_deletion$k = emissions[3u * W + lane][$k.quad].$k.axis;
//#else
const extend_deletion$k = EXTEND_DELETION;
//#end
//#end
