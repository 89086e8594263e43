# Headers, libraries, CMake package, pkg-config file, licence, manual and examples.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hybrid_spmm)

install(FILES include/hybrid_spmm.h include/hybrid_spmm_files.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(kind IN ITEMS shared static)
  install(TARGETS hybrid_spmm_${kind} EXPORT hybrid_spmm_${kind}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT hybrid_spmm_${kind} NAMESPACE hybrid_spmm:: DESTINATION ${package_dir})
endforeach()
configure_package_config_file(cmake/hybrid_spmm-config.cmake.in hybrid_spmm-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(hybrid_spmm-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hybrid_spmm-config.cmake
              ${PROJECT_BINARY_DIR}/hybrid_spmm-config-version.cmake DESTINATION ${package_dir})

set(HYBRID_PC_CUDA "")
if(HYBRID_WITH_CUDA)
  get_target_property(cudart CUDA::cudart_static IMPORTED_LOCATION)
  set(HYBRID_PC_CUDA "${cudart} -lstdc++ -ldl -lrt")
endif()
set(HYBRID_PC_ZSTD "")
if(HYBRID_WITH_ZSTD)
  set(HYBRID_PC_ZSTD -lzstd)
endif()
list(JOIN HDF5_LDFLAGS " " HYBRID_PC_HDF5) # empty without HDF5
list(JOIN LIBDEFLATE_LDFLAGS " " HYBRID_PC_LIBDEFLATE)
file(RELATIVE_PATH HYBRID_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /) # so that the folder can be moved
configure_file(cmake/hybrid_spmm.pc.in hybrid_spmm.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hybrid_spmm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE docs/manual.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.c" PATTERN "*.mtx" PATTERN CMakeLists.txt)
