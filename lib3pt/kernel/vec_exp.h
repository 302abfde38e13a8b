/* v_exp, the same polynomial for every instruction set; included by the vec_*.h files.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 q(r), q of degree 4 fitted to the
 * smallest largest relative error, which is 0.05 of half a unit in the last place. ln 2 is split in
 * two floats (Cody and Waite), and fused products keep r exact to the last bit. */
static inline v_f32 v_exp(v_f32 x) {
  /* Beyond these the result is 0 and infinity; v_max and v_min hand a NaN in b through. */
  x = v_min(v_set1(89.0f), v_max(v_set1(-104.0f), x));
  /* Added to 1.5 2^23, a number of this size is rounded to a whole one. */
  const v_f32 whole = v_set1(0x1.8p23f);
  v_f32 n = v_sub(v_fma(x, v_set1(0x1.715476p+0f), whole), whole);
  v_f32 r = v_fnma(n, v_set1(0x1.62e43p-1f), x);
  r = v_fnma(n, v_set1(-0x1.05c61p-29f), r);
  v_f32 q = v_set1(0x1.6a23cep-10f);
  q = v_fma(q, r, v_set1(0x1.123a2p-7f));
  q = v_fma(q, r, v_set1(0x1.5558f2p-5f));
  q = v_fma(q, r, v_set1(0x1.555492p-3f));
  q = v_fma(q, r, v_set1(0x1.fffffcp-2f));
  v_f32 e = v_add(v_fma(v_mul(r, r), q, r), v_set1(1.0f));
  return v_scale2(e, n);
}
