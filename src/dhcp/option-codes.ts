/** Option numbers that are named in code (RFC 2132 unless noted). All others are carried as raw bytes. */
export const optionCode = {
  pad: 0,
  subnetMask: 1,
  router: 3,
  domainNameServer: 6,
  hostName: 12,
  domainName: 15,
  broadcastAddress: 28,
  ntpServer: 42,
  vendorSpecific: 43,
  requestedAddress: 50,
  leaseTime: 51,
  overload: 52,
  messageType: 53,
  serverIdentifier: 54,
  parameterRequestList: 55,
  maximumMessageSize: 57,
  renewalTime: 58,
  rebindingTime: 59,
  vendorClass: 60,
  clientIdentifier: 61,
  tftpServerName: 66,
  bootFileName: 67,
  /** RFC 3004. */
  userClass: 77,
  /** RFC 3046. */
  relayAgentInformation: 82,
  /** RFC 4578. */
  clientArchitecture: 93,
  /** RFC 4578. */
  clientMachineIdentifier: 97,
  /** iPXE's own encapsulated options. */
  ipxe: 175,
  /** RFC 5071. */
  pxelinuxConfigFile: 209,
  end: 255,
} as const

/** Values of option 53. */
export const messageType = {
  discover: 1,
  offer: 2,
  request: 3,
  decline: 4,
  acknowledge: 5,
  refuse: 6,
  release: 7,
  inform: 8,
} as const
