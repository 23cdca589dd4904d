# Pilotlight beside MikroTik RouterOS 7 (7.4 or later, which has matchers). Not tried by us on a router.
#
# The better way needs nothing of this: leave the router's DHCP server as it is, and turn on Pilotlight's own
# `boot.dhcp: { mode: proxy, interface: … }` on the same segment.
#
# Without it (`boot.dhcp` off in Pilotlight): 192.0.2.10 is the machine that Pilotlight runs on, "lan" the DHCP server
# and "lan-pool" its address pool here. Every machine gets the UEFI loader unless a matcher says otherwise.
/ip dhcp-server option
add name=pilotlight-script code=67 value="s'http://192.0.2.10/boot.ipxe'"
add name=pilotlight-bios code=67 value="s'undionly.kpxe'"
add name=pilotlight-http code=67 value="s'http://192.0.2.10/loaders/snponly.efi'"
add name=pilotlight-http-class code=60 value="s'HTTPClient'"
/ip dhcp-server option sets
add name=pilotlight-script options=pilotlight-script
add name=pilotlight-bios options=pilotlight-bios
add name=pilotlight-http options=pilotlight-http,pilotlight-http-class
/ip dhcp-server matcher
add name=pilotlight-script server=lan address-pool=lan-pool code=77 matching-type=substring value="iPXE" option-set=pilotlight-script
add name=pilotlight-bios server=lan address-pool=lan-pool code=60 matching-type=substring value="PXEClient:Arch:00000" option-set=pilotlight-bios
add name=pilotlight-http server=lan address-pool=lan-pool code=60 matching-type=substring value="HTTPClient:Arch:00016" option-set=pilotlight-http
/ip dhcp-server network
set [ find where address=192.0.2.0/24 ] next-server=192.0.2.10 boot-file-name=snponly.efi
