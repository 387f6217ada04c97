// What can fail of libraries that not every test is linked with, and what it returns then (call_table.h).
#pragma once

#define GNUTLS_FAILED (-25) // GNUTLS_E_MEMORY_ERROR
#define MHD_FAILED 0        // MHD_NO, NULL
#define CURL_FAILED 27      // CURLE_OUT_OF_MEMORY
#define CURLU_FAILED 7      // CURLUE_OUT_OF_MEMORY
#define CURLM_FAILED 3      // CURLM_OUT_OF_MEMORY
#define ZLIB_FAILED (-4)    // Z_MEM_ERROR

// clang-format off
// They return -1 and set errno.
#define LIBRARY_MINUS(ROW) \
	ROW(bpf_prog_get_fd_by_id, EMFILE) ROW(bpf_map_get_fd_by_id, EMFILE) \
	ROW(bpf_obj_get_info_by_fd, EINVAL) ROW(bpf_map_update_elem, E2BIG) ROW(rte_eal_init, ENOMEM) \
	ROW(rte_thread_register, ENOMEM) ROW(cap_set_proc, EPERM) ROW(cap_get_flag, EINVAL) ROW(cap_set_flag, EINVAL) \
	ROW(hwloc_topology_init, ENOMEM) ROW(hwloc_topology_set_io_types_filter, EINVAL) ROW(hwloc_topology_load, EIO)

// They return NULL and set errno.
#define LIBRARY_NULL(ROW) \
	ROW(rte_pktmbuf_pool_create, ENOMEM) ROW(cap_get_proc, ENOMEM) ROW(cap_init, ENOMEM) \
	ROW(hwloc_bitmap_alloc, ENOMEM) ROW(hwloc_bitmap_dup, ENOMEM)

// They return the error, which is negative.
#define LIBRARY_NEGATIVE(ROW) \
	ROW(bpf_xdp_detach, EBUSY) ROW(rte_eal_hotplug_add, EIO) ROW(rte_eal_hotplug_remove, EBUSY) \
	ROW(rte_eth_dev_get_port_by_name, ENODEV) ROW(rte_eth_dev_info_get, EIO) \
	ROW(rte_eth_dev_configure, EINVAL) ROW(rte_eth_dev_adjust_nb_rx_tx_desc, EINVAL) \
	ROW(rte_eth_rx_queue_setup, ENOMEM) ROW(rte_eth_tx_queue_setup, ENOMEM) \
	ROW(rte_eth_allmulticast_enable, EIO) ROW(rte_eth_promiscuous_enable, EIO) \
	ROW(rte_eth_dev_start, EIO) ROW(rte_eth_dev_stop, EBUSY) ROW(rte_eth_macaddr_get, ENODEV) \
	ROW(rte_eth_link_get_nowait, EIO) ROW(rte_eth_stats_get, EIO) \
	ROW(rte_mempool_op_calc_mem_size_default, EINVAL) ROW(rte_mempool_set_ops_byname, EEXIST) \
	ROW(rte_mempool_populate_virt, ENOMEM)

// They return what stands there.
#define LIBRARY_VALUE(ROW) \
	ROW(gnutls_init, GNUTLS_FAILED) ROW(gnutls_priority_set_direct, GNUTLS_FAILED) \
	ROW(gnutls_credentials_set, GNUTLS_FAILED) ROW(gnutls_alpn_set_protocols, GNUTLS_FAILED) \
	ROW(gnutls_alpn_get_selected_protocol, GNUTLS_FAILED) ROW(gnutls_handshake, GNUTLS_FAILED) \
	ROW(gnutls_record_send, GNUTLS_FAILED) ROW(gnutls_record_recv, GNUTLS_FAILED) \
	ROW(gnutls_rnd, GNUTLS_FAILED) ROW(gnutls_psk_allocate_server_credentials, GNUTLS_FAILED) \
	ROW(gnutls_psk_allocate_client_credentials, GNUTLS_FAILED) \
	ROW(gnutls_psk_set_client_credentials, GNUTLS_FAILED) \
	ROW(gnutls_certificate_allocate_credentials, GNUTLS_FAILED) \
	ROW(gnutls_certificate_set_x509_key, GNUTLS_FAILED) \
	ROW(gnutls_certificate_set_x509_trust, GNUTLS_FAILED) ROW(gnutls_pubkey_init, GNUTLS_FAILED) \
	ROW(gnutls_pubkey_import_x509, GNUTLS_FAILED) \
	ROW(gnutls_pubkey_get_preferred_hash_algorithm, GNUTLS_FAILED) ROW(gnutls_x509_crt_init, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_import, GNUTLS_FAILED) ROW(gnutls_x509_crt_list_import2, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_export2, GNUTLS_FAILED) ROW(gnutls_x509_crt_set_version, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_set_serial, GNUTLS_FAILED) ROW(gnutls_x509_crt_set_activation_time, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_set_expiration_time, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_set_dn_by_oid, GNUTLS_FAILED) ROW(gnutls_x509_crt_set_key, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_get_key_id, GNUTLS_FAILED) ROW(gnutls_x509_crt_set_subject_key_id, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_get_subject_key_id, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_set_authority_key_id, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_set_subject_alt_name, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_set_basic_constraints, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_set_key_usage, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_set_key_purpose_oid, GNUTLS_FAILED) ROW(gnutls_x509_crt_sign2, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_get_ca_status, GNUTLS_FAILED) ROW(gnutls_x509_crt_get_dn_by_oid, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_get_activation_time, GNUTLS_FAILED) \
	ROW(gnutls_x509_crt_get_expiration_time, GNUTLS_FAILED) ROW(gnutls_x509_privkey_init, GNUTLS_FAILED) \
	ROW(gnutls_x509_privkey_generate, GNUTLS_FAILED) ROW(gnutls_x509_privkey_import2, GNUTLS_FAILED) \
	ROW(gnutls_x509_privkey_export2_pkcs8, GNUTLS_FAILED) ROW(gnutls_x509_privkey_get_key_id, GNUTLS_FAILED) \
	ROW(MHD_add_connection, MHD_FAILED) ROW(MHD_add_response_header, MHD_FAILED) \
	ROW(MHD_create_response_for_upgrade, MHD_FAILED) \
	ROW(MHD_create_response_from_buffer_with_free_callback, MHD_FAILED) \
	ROW(MHD_create_response_from_callback, MHD_FAILED) ROW(MHD_get_connection_info, MHD_FAILED) \
	ROW(MHD_queue_response, MHD_FAILED) ROW(curl_global_init, CURL_FAILED) \
	ROW(curl_easy_setopt, CURL_FAILED) ROW(curl_easy_perform, CURL_FAILED) \
	ROW(curl_easy_send, CURL_FAILED) ROW(curl_easy_recv, CURL_FAILED) \
	ROW(curl_url_set, CURLU_FAILED) ROW(curl_url_get, CURLU_FAILED) ROW(gnutls_certificate_get_peers, 0) \
	ROW(curl_easy_init, 0) ROW(curl_slist_append, 0) ROW(curl_url, 0) ROW(curl_multi_init, 0) \
	ROW(MHD_create_response_from_buffer, MHD_FAILED) ROW(curl_multi_add_handle, CURLM_FAILED) \
	ROW(json_dumps, 0) ROW(deflateInit2_, ZLIB_FAILED)
// clang-format on
