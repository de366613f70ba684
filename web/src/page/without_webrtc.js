/**
 * WebRTC sends packets past `connect-src`. The page's policy has the directive for it, `webrtc`, which browsers do not know
 * yet: the functions go.
 */
export function removeWebRtc() {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Reflect.deleteProperty(globalThis, name);
}
