// The coefficients of a lane's rows, which `load_lane` staged, into registers.
//#for k K
let from_deletion$k = emissions[0][$k][lane];
let from_insertion$k = emissions[1][$k][lane];
let extend_insertion$k = emissions[2][$k][lane];
//#if VARYING
let extend_deletion$k = emissions[3][$k][lane];
//#else
const extend_deletion$k = EXTEND_DELETION;
//#end
//#end
