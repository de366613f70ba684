// One column of a lane: `s` and `i` are S and I of its first row, and of the next lane's after it. Five operations a cell:
//   M^ = relative emission S^;  D^ of the next column = M^ + extend_deletion D^;
//   S^ below = M^ + from_deletion D^ + from_insertion I^;  I^ below = M^ + extend_insertion I^
//#for k K
{
    let m = s$k * emissions[letter][$k][lane];
    let d = d$k;
    s$k = s;
    d$k = fma(extend_deletion$k, d, m);
    s = fma(from_insertion$k, i, fma(from_deletion$k, d, m));
    i = fma(extend_insertion$k, i, m);
}
//#end
